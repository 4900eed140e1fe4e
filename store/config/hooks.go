package config

// HookGroup is one [[hooks.EVENT]]: what runs where the matcher matches, as settings of other tools say it too.
type HookGroup struct {
	Matcher string    `toml:"matcher" json:"matcher"`
	Hooks   []HookRow `toml:"hooks" json:"hooks"`
}

// HookRow is one program that runs.
type HookRow struct {
	Type    string  `toml:"type" json:"type"` // command; "" means that too
	Command string  `toml:"command" json:"command"`
	Timeout float64 `toml:"timeout" json:"timeout"` // seconds; 0: 60
}
