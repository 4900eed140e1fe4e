package uitest_test

import (
	"os"
	"testing"

	living "fantail/agents/fleet"
	"fantail/tools/permission"
	"fantail/tools/proc"
	"fantail/ui/uitest"
)

// Whatever way a human has something done at a screen, its commands run in the environment of that screen.
func TestCommandsRunInTheScreensEnvironment(t *testing.T) {
	t.Parallel()
	here := &living.Environment{Vars: []string{"PATH=" + os.Getenv("PATH"), "X=here"}, Umask: proc.UmaskOf(0o027)}
	s := uitest.Start(t, uitest.Options{
		Real: true, Mode: permission.Yolo, Commands: here, News: "SOME_KEY of this shell is used from now on",
	})
	s.See("SOME_KEY of this shell is used from now on")
	s.Enter("!echo typed-$X-$(umask)")
	s.See("typed-here-0027")
	s.Enter("run echo prompt-$X-$(umask)")
	s.See("prompt-here-0027")
	for _, name := range []string{"pushed", "plain"} {
		prompt := map[string]string{"pushed": "run echo $X >pushed; cat pushed", "plain": "!echo $X >plain; cat plain"}[name]
		s.Enter("/push name=" + name + " " + prompt)
		s.Enter("/run")
		s.Until(name+" has run", func() bool { b, _ := os.ReadFile(s.Home.Root + "/" + name); return string(b) == "here\n" })
	}
	s.Enter("/agent new mate")
	s.See("[Agent: mate]") // not just what was typed
	s.Enter("!echo helped-$X")
	s.See("helped-here")
	s.Stop()
}
