package cli

import (
	"errors"

	"dev.scrapetop/ui/keys"
)

// keyMap is the dashboard's key table with the keys of [keys].
func (c *configFile) keyMap() (*keys.Map, error) {
	changes := make(map[string][]string, len(c.Keys))
	for name, v := range c.Keys {
		switch v := v.(type) {
		case string:
			changes[name] = []string{v}
			continue
		case []any:
			list := make([]string, 0, len(v))
			for _, one := range v {
				if s, ok := one.(string); ok {
					list = append(list, s)
				}
			}
			if changes[name] = list; len(list) == len(v) {
				continue
			}
		}
		return nil, c.wrong("keys."+name, "takes a key or a list of keys, like \"F7\" or [\"x\", \"Ctrl-X\"]")
	}
	m, err := keys.Custom(changes)
	if fault, ok := errors.AsType[*keys.Fault](err); ok {
		return nil, c.wrong("keys."+fault.Name, "%s", fault.Why)
	}
	return m, err
}
