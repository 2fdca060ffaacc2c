package evomi

import "dev.scrapetop/engine/provider"

// fields are the request fields that the platform documents (sheet section 3), but for the task's own.
var fields = map[string]provider.FieldKind{
	"mode": provider.TextField, "delivery": provider.TextField, "content": provider.TextField, "include_content": provider.FlagField,
	"async": provider.FlagField, "proxy_type": provider.TextField, "proxy_country": provider.TextField,
	"proxy_session_id": provider.TextField, "block_resources": provider.TextsField, "wait_until": provider.TextField,
	"wait_seconds": provider.WholeField, "additional_headers": provider.ObjectField, "capture_headers": provider.FlagField,
	"no_html": provider.FlagField,
}

// FieldKind is the documented type of a request field.
func FieldKind(field string) provider.FieldKind { return fields[field] }
