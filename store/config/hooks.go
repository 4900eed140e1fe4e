package config

// HookGroup is one [[hooks.EVENT]]: the hooks to run where the matcher matches, as in settings of other tools.
type HookGroup struct {
	Matcher string    `toml:"matcher" json:"matcher"`
	Hooks   []HookRow `toml:"hooks" json:"hooks"`
}

// HookRow is one program that runs.
type HookRow struct {
	Type    string  `toml:"type" json:"type"` // command; "" means the same
	Command string  `toml:"command" json:"command"`
	Timeout float64 `toml:"timeout" json:"timeout"` // seconds; 0: 60
}
