package builtin

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	i := func(verb, arg, text string) instruction { return instruction{verb: verb, arg: arg, text: text} }
	for prompt, want := range map[string][]instruction{
		"run go test ./...":              {i("run", "go test ./...", "")},
		"RUN Go Test":                    {i("run", "Go Test", "")},
		"run":                            {i("run", "", "")},
		"run 2":                          {{verb: "run", count: 2}},
		"run 2 things":                   {i("run", "2 things", "")},
		"queue":                          {i("queue", "", "")},
		"read main.go":                   {i("read", "main.go", "")},
		`read "my file.txt"`:             {i("read", "my file.txt", "")},
		"list":                           {i("list", "", "")},
		"list agents":                    {i("list", "agents", "")},
		"find **/*.go":                   {i("find", "**/*.go", "")},
		"grep TODO":                      {i("grep", "TODO", "")},
		"grep TODO in agents":            {i("grep", "TODO", "agents")},
		"grep came in late in a.go":      {i("grep", "came in late", "a.go")},
		`grep "came in late"`:            {i("grep", "came in late", "")},
		`grep "a b" in c`:                {i("grep", "a b", "c")},
		`grep func main\(`:               {i("grep", `func main\(`, "")},
		"write a.txt: hello: you":        {i("write", "a.txt", "hello: you")},
		"write a.txt:":                   {i("write", "a.txt", "")},
		`write a.txt: "one\ntwo\n"`:      {i("write", "a.txt", "one\ntwo\n")},
		`write a.txt: "not" quoted`:      {i("write", "a.txt", `"not" quoted`)},
		`write "a b.txt": x`:             {i("write", "a b.txt", "x")},
		"edit a.go: x := 1 => x := 2":    {{verb: "edit", arg: "a.go", text: "x := 1", new: "x := 2"}},
		"edit a.go: gone =>":             {{verb: "edit", arg: "a.go", text: "gone"}},
		`edit a.go: "\tx => y" => "\tz"`: {{verb: "edit", arg: "a.go", text: "\tx => y", new: "\tz"}},
		`edit a.go: "a" + b => "c"`:      {{verb: "edit", arg: "a.go", text: `"a" + b`, new: "c"}},
		"send bob: hello":                {i("send", "bob", "hello")},
		"send bob:hello":                 {i("send", "bob", "hello")},
		"check":                          {i("check", "", "")},
		"check from bob":                 {i("check", "bob", "")},
		"receive":                        {i("receive", "", "")},
		"receive FROM bob":               {i("receive", "bob", "")},
		"push t interactive 90s: say x":  {{verb: "push", arg: "t", text: "say x", interactive: true, idle: "90s"}},
		"now also say a then say b":      {{verb: "say", arg: "a", also: true}, {verb: "say", arg: "b"}},
		"push t after a,b: say x: y":     {{verb: "push", arg: "t", text: "say x: y", after: "a,b"}},
		"push t: run go vet ./...":       {i("push", "t", "run go vet ./...")},
		"delegate t: say x":              {i("delegate", "t", "say x")},
		"remember oauth/tokens: # Short then long": {i("remember", "oauth/tokens", "# Short then long")},
		`remember a: "b\nc"`:                       {i("remember", "a", "b\nc")},
		"recall oauth/tokens then memories":        {i("recall", "oauth/tokens", ""), i("memories", "", "")},
		"remind me in 30m: tea":                    {{verb: "remind", arg: "me in 30m", text: "tea", wait: 30 * time.Minute}},
		"Remind me to commit in 30 min":            {{verb: "remind", arg: "me in 30m", text: "commit", wait: 30 * time.Minute}},
		"remind me to put it in a box in an hour.": {{verb: "remind", arg: "me in 1h", text: "put it in a box", wait: time.Hour}},
		"remind me about the tea in half an hour":  {{verb: "remind", arg: "me in 30m", text: "the tea", wait: 30 * time.Minute}},
		"remind me in 2 hours to call: x":          {{verb: "remind", arg: "me in 2h", text: "call: x", wait: 2 * time.Hour}},
		"remind me in 90 seconds that it is time":  {{verb: "remind", arg: "me in 90s", text: "it is time", wait: 90 * time.Second}},
		"remind me in 1.5 hours: lunch":            {{verb: "remind", arg: "me in 1.5h", text: "lunch", wait: 90 * time.Minute}},
		"wait 5s":                                  {{verb: "wait", arg: "5s", wait: 5 * time.Second}},
		"wait 0.5":                                 {{verb: "wait", arg: "0.5", wait: time.Second / 2}},
		"say hello, it's me":                       {i("say", "hello, it's me", "")},
		"fail no reason":                           {i("fail", "no reason", "")},
		"\n  read a \r\n\n\tread b\n":              {i("read", "a", ""), i("read", "b", "")},
		"read a then read b THEN read c":           {i("read", "a", ""), i("read", "b", ""), i("read", "c", "")},
		"say a then say b\nsay c":                  {i("say", "a", ""), i("say", "b", ""), i("say", "c", "")},
		"say don't then say b":                     {i("say", "don't", ""), i("say", "b", "")},
		"say now and then we see":                  {i("say", "now and then we see", "")},
		"run make then run ./x":                    {i("run", "make", ""), i("run", "./x", "")},
		"run if test -f a; then read b; fi":        {i("run", "if test -f a; then read b; fi", "")},
		"run echo 'a then say b' then say c":       {i("run", "echo 'a then say b'", ""), i("say", "c", "")},
		`run echo \' then say c`:                   {i("run", `echo \'`, ""), i("say", "c", "")},
		"run then say c":                           {i("run", "", ""), i("say", "c", "")},
		"say a then push t: run b then say c":      {i("say", "a", ""), i("push", "t", "run b then say c")},
		"delegate t: say a then say b":             {i("delegate", "t", "say a then say b")},
		"write f: first then say b":                {i("write", "f", "first then say b")},
		"edit f: a then say b => c then say d":     {{verb: "edit", arg: "f", text: "a then say b", new: "c then say d"}},
		"send bob: do a then say b":                {i("send", "bob", "do a then say b")},
		"remind me in 3m: tea then say b":          {{verb: "remind", arg: "me in 3m", text: "tea then say b", wait: 3 * time.Minute}},
		"wait 1s then push t: wait 2s then say x":  {{verb: "wait", arg: "1s", wait: time.Second}, i("push", "t", "wait 2s then say x")},
	} {
		got, err := parse(prompt)
		if err != nil {
			t.Errorf("%q: %v", prompt, err)
			continue
		}
		for k := range got {
			got[k].source = ""
			if got[k].verb == "run" && got[k].count > 0 {
				got[k].arg = ""
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n got %+v\nwant %+v", prompt, got, want)
		}
	}
}

func TestParse_refuses(t *testing.T) {
	for prompt, want := range map[string]string{
		"":                           "empty",
		" \n ":                       "empty",
		"please fix the bug":         "`please fix the bug` is not one of the instructions",
		"say hi\nplease fix it":      "`please fix it` is not one",
		"read the main file":         "write it as `read PATH`",
		"read":                       "write it as `read PATH`",
		"list all the files":         "write it as `list PATH`",
		"find the bug":               "write it as `find GLOB`",
		"grep":                       "write it as `grep PATTERN in PATH`",
		"grep  in a":                 "grep",
		"check the tests":            "write it as `check from NAME`",
		"receive bob":                "write it as `receive from NAME`",
		"queue up":                   "write it as `queue`",
		"run 0":                      "write it as `run N`",
		"write hello":                "write it as `write PATH: TEXT`",
		"write two words: x":         "write it as `write PATH: TEXT`",
		"edit f: a":                  "write it as `edit PATH: OLD => NEW`",
		`edit f: "" => b`:            "write it as `edit PATH: OLD => NEW`",
		"edit f: => b":               "write it as `edit PATH: OLD => NEW`",
		"send bob":                   "write it as `send NAME: TEXT`",
		"push t after: x":            "write it as `push NAME: TEXT`",
		"push t after a b: x":        "write it as `push NAME: TEXT`",
		"push t before a: x":         "write it as `push NAME: TEXT`",
		"push t interactive soon: x": "write it as `push NAME: TEXT`",
		"push t interactive -5s: x":  "write it as `push NAME: TEXT`",
		"push t interactive:":        "write it as `push NAME: TEXT`",
		"delegate t after a: x":      "write it as `delegate NAME: TEXT`",
		"now also":                   "empty",
		"now what":                   "`what` is not one of the instructions",
		"push :x":                    "write it as `push NAME: TEXT`",
		"push t:":                    "write it as `push NAME: TEXT`",
		"delegate two words: x":      "write it as `delegate NAME: TEXT`",
		"remind me to commit":        "write it as `remind me in 30m: TEXT`",
		"remind me to go in a while": "write it as `remind me in 30m: TEXT`",
		"remind me in 30 min":        "write it as `remind me in 30m: TEXT`",
		"remind me in 5 days to x":   "write it as `remind me in 30m: TEXT`",
		"remind me at 3: x":          "write it as `remind me in 30m: TEXT`",
		"remind me in 3m":            "write it as `remind me in 30m: TEXT`",
		"schedule ci every x: y":     "write it as `schedule NAME every 10m: INSTRUCTION`",
		"schedule ci weekly 3m: y":   "write it as `schedule NAME every 10m: INSTRUCTION`",
		"unregister":                 "write it as `unregister NAME`",
		"remind":                     "write it as `remind me in 30m: TEXT`",
		"wait a bit":                 "write it as `wait 5s`",
		"wait -1s":                   "write it as `wait 5s`",
		"wait 999h":                  "write it as `wait 5s`",
		"wait 1e300":                 "write it as `wait 5s`",
		"wait NaN":                   "write it as `wait 5s`",
		"say":                        "write it as `say TEXT`",
		"fail":                       "write it as `fail TEXT`",
		"say a then check the list":  "write it as `check from NAME`",
	} {
		list, err := parse(prompt)
		if err == nil {
			// "grep  in a" searches for the words; only these two forms may pass
			if prompt != "grep  in a" {
				t.Errorf("%q is accepted: %+v", prompt, list)
			}
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want …%s", prompt, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"run a then say b", `edit f: "\t" => x`, "grep 'a in b", "wait 1s", "push a: b: c", "\"", "say ` then run ``"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := parse(s)
		if err == nil && len(list) == 0 {
			t.Fatal("neither instructions nor an error")
		}
		for _, in := range list {
			if again, err := parse(in.source); err != nil || len(again) != 1 || fmt.Sprint(again[0]) != fmt.Sprint(in) {
				t.Fatalf("%q reads as %+v, alone as %+v, %v", in.source, in, again, err)
			}
		}
	})
}
