package omniscrape

import "dev.scrapetop/engine/provider"

// fields are the request fields that the platform documents with a type, but for the task's own. js_rendering is named
// without one.
var fields = map[string]provider.FieldKind{"mode": provider.TextField, "output_format": provider.TextField}

// FieldKind is the documented type of a request field.
func FieldKind(field string) provider.FieldKind { return fields[field] }
