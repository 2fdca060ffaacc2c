package spidra

import "dev.scrapetop/engine/provider"

// fields are the request fields whose types the platform documents (sheet section 3), but for the task's own. The types of
// cookies and actions are not told.
var fields = map[string]provider.FieldKind{
	"prompt": provider.TextField, "output": provider.TextField, "schema": provider.ObjectField, "useProxy": provider.FlagField,
	"proxyCountry": provider.TextField, "extractContentOnly": provider.FlagField, "screenshot": provider.FlagField,
	"fullPageScreenshot": provider.FlagField, "scrapeMode": provider.TextField,
	// of crawls
	"crawlInstruction": provider.TextField, "transformInstruction": provider.TextField, "maxPages": provider.WholeField,
	"maxDepth": provider.WholeField, "includePaths": provider.TextsField, "excludePaths": provider.TextsField,
	"webhookUrl": provider.TextField,
}

// FieldKind is the documented type of a request field.
func FieldKind(field string) provider.FieldKind { return fields[field] }
