package config

import (
	"strings"
	"testing"
	"time"
)

// TestFirstByte: how long a provider's first byte may take is one of its settings.
func TestFirstByte(t *testing.T) {
	c := Config{Providers: map[string]ProviderRow{"work": {Protocol: "openai", BaseURL: "http://localhost:1/v1", First: "30m"}}}
	got, err := c.Resolve(func(string) string { return "" }, "work/m")
	if err != nil || got.First != 30*time.Minute {
		t.Errorf("%v %v", got.First, err)
	}
	for _, odd := range []string{"30", "0s", "-1m", "48h", "soon"} {
		row := ProviderRow{Protocol: "openai", BaseURL: "http://localhost:1/v1", First: odd}
		if at, err := row.check("work"); err == nil || at[0] != "first_byte_timeout" || !strings.Contains(err.Error(), "providers.work.first_byte_timeout") {
			t.Errorf("%s: %v %v", odd, at, err)
		}
	}
}
