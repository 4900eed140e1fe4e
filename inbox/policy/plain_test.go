package policy

import (
	"strings"
	"testing"
)

// TestParse_noHandlers: a file describes the handling of mail in known words. It holds no handlers, conditions,
// templates or commands: each is an error with its position.
//
// Spec: M-44.
func TestParse_noHandlers(t *testing.T) {
	for _, text := range []string{
		"handlers:\n  - on: urgent\n    run: ./notify.sh\n",
		"on_message: ./notify.sh\n",
		"message_handling:\n  filter: \"priority == 'high' && from =~ 'test'\"\n",
		"message_handling:\n  handler: notify\n",
		"message_handling:\n  template: \"{{ .Body }}\"\n",
		"message_handling:\n  default: \"{{ if .Urgent }}interrupt{{ end }}\"\n",
		"message_handling:\n  from:\n    main: {run: ./notify.sh}\n",
		"message_handling:\n  tags:\n    ci: \"$(./notify.sh)\"\n",
		"outcomes:\n  - run: ./notify.sh\n",
		"outcomes:\n  - invoke: handler\n",
		"context:\n  env: {A: b}\n",
	} {
		if rules, err := ParseRules("x.yml", []byte(text)); err == nil || !strings.Contains(err.Error(), ":") {
			t.Errorf("%q is understood as %+v, %v", text, rules, err)
		}
	}
}
