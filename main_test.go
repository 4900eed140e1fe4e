package main

import (
	"cmp"
	"flag"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"fantail/.ci/house"
	"fantail/.ci/house/promises"
	"fantail/.ci/house/tree"
	"fantail/.ci/long"
	"fantail/store/config"
)

// The architecture's rules, read out of the source. Each fails with a sentence
// that says what to do, and each is shown small sources it must refuse.

// arrows says which packages of ours a package may import. A package that is
// not here has no place yet: give it one here and in its parents' comments.
// Tests may import what they need, but the screen's packages only from there.
var arrows = map[string][]string{
	".": {"*"},
	"agents": {
		"agents/audit", "agents/briefs", "agents/brought", "agents/budget", "agents/checks", "agents/choices",
		"agents/commands", "agents/disk", "agents/drafts", "agents/due", "agents/ending", "agents/event", "agents/fleet",
		"agents/follow", "agents/fork", "agents/history", "agents/hooks", "agents/inline", "agents/kept", "agents/kit",
		"agents/ledger", "agents/llm", "agents/mail", "agents/memory", "agents/observer", "agents/outside",
		"agents/permissions", "agents/post", "agents/program", "agents/quarantine", "agents/questions", "agents/queue",
		"agents/recovery", "agents/roster", "agents/schedule", "agents/seal", "agents/steer", "agents/tasks", "agents/turn",
		"agents/waits", "inbox", "inbox/envelope", "inbox/policy", "store", "tools", "tools/allowance", "tools/permit",
		"tools/proc", "tools/secret",
	},
	"agents/agentstest": {
		"agents", "agents/briefs", "agents/event", "agents/fleet", "agents/history", "agents/hooks", "agents/kept",
		"agents/llm", "agents/skills", "agents/trust", "agents/turn", "inbox/policy", "store", "store/storetest", "tools",
		"tools/allowance", "tools/permit", "tools/proc", "tools/secret",
	},
	"agents/audit":  {"agents/history", "store", "tools/secret"},
	"agents/books":  {},
	"agents/briefs": {"agents/event", "agents/history", "agents/instructions", "store", "store/files", "tools/ownfile"},
	"agents/budget": {
		"agents/event", "agents/fleet", "agents/history", "agents/llm", "agents/roster", "inbox", "store", "tools",
		"tools/allowance",
	},
	"agents/checks": {
		"store", "tools", "tools/pattern", "tools/permit", "tools/permit/bash", "tools/proc", "tools/sandbox", "tools/secret",
	},
	"agents/drafts": {"store"},
	"agents/due":    {"agents/history", "agents/roster", "agents/schedule", "agents/schedule/when", "inbox", "store", "tools"},
	"agents/event": {
		"agents/history", "agents/llm", "inbox", "inbox/policy", "store", "tools", "tools/allowance", "tools/permit",
	},
	"agents/fleet": {
		"agents/event", "agents/history", "agents/llm", "agents/queue", "agents/roster", "inbox", "tools", "tools/permit",
		"tools/proc", "tools/secret",
	},
	"agents/follow": {"agents/event", "agents/history", "store"},
	"agents/fork": {
		"agents/ending", "agents/event", "agents/fleet", "agents/history", "agents/llm", "agents/mail", "agents/memory",
		"agents/roster", "agents/single", "agents/turn", "agents/waits", "inbox", "inbox/envelope", "inbox/policy", "store",
	},
	"agents/hooks": {
		"agents/event", "agents/history", "agents/program", "agents/trust", "inbox", "store", "store/config",
		"store/config/settings", "tools", "tools/permit", "tools/sandbox",
	},
	"agents/trust":        {"tools/content", "tools/ownfile", "tools/permit/bash"},
	"agents/kept":         {"tools/content", "tools/permit", "tools/sandbox/keep"},
	"agents/history":      {"agents/llm", "agents/memory", "inbox", "inbox/envelope", "store", "tools/picture", "tools/secret"},
	"agents/instructions": {"tools", "tools/front", "tools/permit/filenames", "tools/tree"},
	"agents/kills":        {},
	"agents/ledger": {
		"agents/event", "agents/history", "agents/llm", "agents/roster", "agents/schedule", "inbox", "inbox/policy", "store",
		"tools", "tools/offer",
	},
	"agents/llm":           {},
	"agents/llm/anthropic": {"agents/llm", "agents/llm/wire"},
	"agents/llm/builtin":   {"agents/llm"},
	"agents/llm/llmtest":   {"agents/llm"},
	"agents/llm/openai":    {"agents/llm", "agents/llm/wire"},
	"agents/llm/wire":      {"agents/llm"},
	"agents/mail": {
		"agents/event", "agents/fleet", "agents/history", "agents/roster", "agents/waits", "inbox", "inbox/envelope",
		"inbox/policy", "store",
	},
	"agents/memory": {"inbox", "store"},
	"agents/observer": {
		"agents/checks", "agents/ending", "agents/event", "agents/fleet", "agents/history", "agents/llm", "agents/roster",
		"agents/single", "agents/turn", "inbox", "store", "tools",
	},
	"agents/outside":       {"agents/event", "agents/history", "agents/roster", "agents/seal", "inbox", "store"},
	"agents/permissions":   {"agents/audit", "store", "tools", "tools/permit", "tools/permit/toolrule"},
	"agents/post":          {"agents/outside"},
	"agents/prompts":       {},
	"agents/questions":     {"agents/audit", "agents/event", "agents/roster", "agents/seal", "inbox", "store", "tools/permit"},
	"agents/queue":         {},
	"agents/recovery":      {"agents/event", "agents/history", "agents/questions", "agents/roster", "inbox", "store", "tools/proc"},
	"agents/repeats":       {"agents/history", "tools"},
	"agents/reply":         {"agents/event", "agents/history", "agents/llm", "store", "tools/secret"},
	"agents/roster":        {"agents/event", "agents/history", "agents/llm", "agents/seal", "inbox", "store", "tools"},
	"agents/schedule":      {"agents/schedule/when", "inbox", "store"},
	"agents/schedule/when": {},
	"agents/seal":          {"store"},
	"agents/skills": {
		"agents/event", "agents/instructions", "store/config/near", "tools", "tools/front", "tools/permit", "tools/secret",
		"tools/tree", "tools/workspace",
	},
	"agents/steer":  {"agents/event", "agents/fleet", "agents/roster", "store"},
	"agents/tasks":  {"agents/event", "agents/history", "agents/roster", "agents/seal", "inbox", "store", "tools"},
	"agents/ending": {"agents/budget", "agents/engine", "agents/event", "agents/fleet", "agents/history", "agents/llm"},
	"agents/turn": {
		"agents/abreast", "agents/audit", "agents/briefs", "agents/brought", "agents/budget", "agents/commands", "agents/disk",
		"agents/ending", "agents/engine", "agents/event", "agents/fleet", "agents/history", "agents/hooks", "agents/kept",
		"agents/llm", "agents/mail", "agents/post", "agents/prompts", "agents/questions", "agents/recovery", "agents/repeats",
		"agents/reply", "agents/roster", "agents/sampling", "agents/seat", "agents/typed", "agents/waits", "inbox", "store",
		"tools", "tools/permit", "tools/proc", "tools/sandbox", "tools/secret", "tools/workspace",
	},
	"agents/quarantine": {
		"agents/fleet", "agents/history", "agents/llm", "agents/queue", "agents/roster", "agents/seal", "store",
	},
	"agents/vendors":        {},
	"agents/waits":          {"agents/event", "agents/queue", "inbox"},
	"inbox":                 {"store"},
	"inbox/envelope":        {"inbox", "tools/pattern"},
	"inbox/policy":          {"inbox", "store"},
	"inbox/rules":           {"inbox", "inbox/policy", "tools/tree"},
	"store":                 {"store/files", "store/sqlite"},
	"store/config":          {"store/config/near", "store/config/paths"},
	"store/config/near":     {},
	"store/config/paths":    {},
	"store/config/rulefile": {"store/config/settings", "store/config/walk"},
	"store/config/walk":     {},
	"store/files":           {},
	"store/sqlite":          {"store/files"},
	"store/storetest":       {"store"},
	"themes":                {},
	"tools": {
		"tools/allowance", "tools/content", "tools/git", "tools/offer", "tools/permit", "tools/permit/filenames",
		"tools/permit/programs", "tools/picture", "tools/proc", "tools/sample", "tools/sandbox", "tools/search",
		"tools/secret", "tools/spelling", "tools/workspace",
	},
	"tools/allowance": {},
	"tools/content":   {},
	"tools/front":     {"tools"},
	"tools/git":       {},
	"tools/mcp": {
		"tools", "tools/content", "tools/mcp/form", "tools/mcp/frames", "tools/mcp/login", "tools/mcp/paging", "tools/mcp/sampling",
		"tools/mcp/signin", "tools/ownfile", "tools/permit", "tools/picture", "tools/proc", "tools/sample", "tools/sandbox", "tools/secret",
	},
	"tools/mcp/login":        {"tools/ownfile"},
	"tools/permit":           {"tools/permit/bash", "tools/permit/filenames", "tools/permit/programs", "tools/permit/toolrule"},
	"tools/permit/bash":      {"tools/permit/filenames"},
	"tools/permit/filenames": {"tools/pattern"},
	"tools/permit/programs":  {"tools/pattern", "tools/permit/bash", "tools/permit/filenames"},
	"tools/permit/toolrule":  {"tools/permit/bash", "tools/permit/programs"},
	"tools/proc":             {"tools/sandbox", "tools/secret"},
	"tools/sandbox":          {"tools/sandbox/cell"},
	"tools/sandbox/cell":     {},
	"tools/sandbox/keep":     {},
	"tools/search":           {"tools/content", "tools/secret", "tools/workspace"},
	"tools/secret":           {},
	"tools/workspace":        {"tools/permit", "tools/permit/bash", "tools/permit/filenames", "tools/proc"},
	"ui": {
		"agents", "agents/choices", "agents/event", "agents/fleet", "agents/history", "agents/ledger", "agents/memory",
		"agents/skills", "inbox", "themes", "tools/permit", "ui/asking", "ui/composer", "ui/dialog", "ui/drafts", "ui/files",
		"ui/flash", "ui/frame", "ui/intent", "ui/layers", "ui/manual", "ui/notice", "ui/panel", "ui/slash", "ui/slash/custom",
		"ui/slash/facets", "ui/tabs", "ui/term", "ui/transcript", "ui/welcome", "ui/words",
	},
	"ui/asking": {
		"agents/event", "themes", "tools/permit", "ui/dialog", "ui/drafts", "ui/flash", "ui/frame", "ui/intent", "ui/layers",
		"ui/tabs", "ui/transcript", "ui/words",
	},
	"ui/cli": {
		"agents", "agents/briefs", "agents/event", "agents/fleet", "agents/prompts", "agents/roster", "store", "store/config",
		"tools", "tools/permit", "tools/proc", "tools/secret", "ui/cli/errand", "ui/cli/place", "ui/cli/printer",
		"ui/cli/shell", "ui/manual",
	},
	"ui/cli/channel": {"agents/event", "agents/follow", "agents/history", "inbox", "ui/cli/jsonline", "ui/screen/wire"},
	"ui/cli/deposit": {
		"agents", "agents/choices", "agents/llm/builtin", "agents/mail", "agents/outside", "agents/roster", "store",
		"store/config", "ui/cli/models", "ui/cli/shell", "ui/words",
	},
	"ui/cli/doctor": {
		"agents/briefs", "agents/hooks", "agents/instructions", "agents/permissions", "agents/skills", "agents/trust",
		"tools/sandbox", "ui/cli/place", "ui/cli/reach", "ui/cli/wall", "ui/slash/inforce",
	},
	"ui/cli/errand": {
		"agents/audit", "agents/event", "agents/history", "agents/hooks", "agents/inline", "agents/memory", "agents/outside",
		"agents/post", "agents/roster", "agents/schedule", "agents/skills", "agents/trust", "inbox", "store", "store/config",
		"store/config/paths", "tools", "tools/allowance", "tools/mcp/login", "tools/proc", "tools/sandbox", "tools/secret",
		"ui/cli/channel", "ui/cli/deposit", "ui/cli/doctor", "ui/cli/guard", "ui/cli/jsonline", "ui/cli/mcplist",
		"ui/cli/mcpserver", "ui/cli/place", "ui/cli/reach", "ui/cli/rulebook", "ui/cli/shelf", "ui/cli/shell", "ui/cli/unit",
		"ui/cli/wall", "ui/frame", "ui/screen", "ui/slash/serving", "ui/slash/timetable", "ui/words",
	},
	"ui/cli/guard": {"tools/proc", "tools/secret"},
	"ui/cli/host": {
		"agents", "agents/event", "agents/outside", "agents/roster", "inbox", "store/config/paths", "tools", "tools/proc",
		"ui", "ui/cli/channel", "ui/cli/errand", "ui/cli/guard", "ui/cli/reach", "ui/cli/shell", "ui/notice", "ui/screen",
		"ui/screen/tty", "ui/screen/wire",
	},
	"ui/cli/jsonline": {},
	"ui/cli/mcpserver": {
		"agents/acp/schema", "agents/engine", "agents/event", "agents/outside", "agents/roster", "inbox", "inbox/envelope",
		"tools", "tools/secret", "ui/cli/deposit", "ui/cli/reach", "ui/cli/shell",
	},
	"ui/cli/models": {
		"agents/acp/schema", "agents/acp/vendor", "agents/engine", "agents/llm", "agents/llm/anthropic", "agents/llm/builtin",
		"agents/llm/openai", "store/config", "ui/cli/shell",
	},
	"ui/cli/place": {"agents/instructions", "store/config/paths", "tools/proc", "ui/cli/shell"},
	"ui/cli/printer": {
		"agents", "agents/event", "agents/history", "agents/llm", "tools", "tools/permit", "ui/cli/guard", "ui/cli/jsonline",
		"ui/cli/place", "ui/cli/shell", "ui/frame",
	},
	"ui/cli/reach": {"agents/outside", "tools", "ui/cli/channel", "ui/cli/shell", "ui/screen", "ui/screen/wire"},
	"ui/cli/shelf": {
		"agents/skills", "inbox/policy", "inbox/rules", "store/config", "store/config/paths", "tools", "ui/cli/place",
		"ui/slash",
	},
	"ui/cli/shell": {"store/config/near", "ui/frame"},
	"ui/cli/unit":  {"store/config/paths", "tools/ownfile"},
	"ui/cli/wall": {
		"store/config", "store/config/paths", "tools/git", "tools/permit", "tools/permit/filenames", "tools/sandbox",
		"ui/cli/place",
	},
	"ui/cli/watch": {},
	"ui/cli/workspace": {
		"agents", "agents/audit", "agents/briefs", "agents/brought", "agents/choices", "agents/event", "agents/fleet",
		"agents/hooks", "agents/inline", "agents/kept", "agents/observer", "agents/permissions", "agents/servers",
		"agents/skills", "agents/trust", "inbox/rules", "store", "store/config", "store/config/paths", "tools",
		"tools/allowance", "tools/mcp", "tools/mcp/login", "tools/mcp/signin", "tools/permit", "tools/proc", "tools/sandbox",
		"tools/secret", "ui", "ui/cli", "ui/cli/guard", "ui/cli/host", "ui/cli/mcplist", "ui/cli/mcpserver", "ui/cli/models",
		"ui/cli/place", "ui/cli/printer", "ui/cli/reach", "ui/cli/rulebook", "ui/cli/shelf", "ui/cli/shell", "ui/cli/veil",
		"ui/cli/wall", "ui/cli/watch", "ui/screen", "ui/welcome", "ui/words",
	},
	"ui/composer":      {"themes", "ui/frame"},
	"ui/dialog":        {"themes", "tools/permit", "ui/dialog/reveal", "ui/frame"},
	"ui/dialog/reveal": {"themes", "ui/frame"},
	"ui/drafts":        {"agents/drafts", "ui/composer", "ui/flash", "ui/intent", "ui/tabs", "ui/transcript", "ui/words"},
	"ui/files":         {},
	"ui/flash":         {},
	"ui/frame":         {},
	"ui/markdown":      {"themes", "ui/frame"},
	"ui/transcript":    {"agents/event", "agents/history", "inbox", "themes", "ui/frame", "ui/markdown"},
	"ui/intent":        {"agents/memory", "inbox", "themes", "tools/permit", "ui/dialog", "ui/tabs", "ui/transcript", "ui/words"},
	"ui/layers":        {"ui/dialog", "ui/intent"},
	"ui/notice": {
		"agents", "agents/event", "agents/history", "agents/ledger", "agents/roster", "inbox", "inbox/policy", "themes",
		"ui/frame", "ui/intent", "ui/tabs", "ui/transcript", "ui/words",
	},
	"ui/panel": {
		"agents", "agents/event", "agents/fleet", "agents/history", "agents/ledger", "agents/mail", "agents/permissions",
		"agents/roster", "agents/schedule", "agents/servers", "inbox", "themes", "tools", "tools/mcp", "tools/permit",
		"tools/permit/toolrule", "ui/dialog", "ui/frame", "ui/intent", "ui/slash/permissions", "ui/slash/serving",
		"ui/slash/signing", "ui/slash/timetable", "ui/slash/trusting", "ui/tabs", "ui/transcript", "ui/words",
	},
	"ui/screen":          {"store/config/paths", "tools/sandbox/cell", "ui/screen/tty", "ui/screen/wire"},
	"ui/screen/tty":      {},
	"ui/screen/wire":     {},
	"ui/slash/timetable": {"agents/schedule", "agents/schedule/when", "inbox", "ui/slash/options"},
	"ui/slash/facets": {
		"agents", "agents/audit", "agents/event", "agents/fleet", "agents/history", "agents/ledger", "agents/mail",
		"agents/memory", "agents/roster", "inbox", "inbox/policy", "tools", "tools/allowance", "tools/mcp", "tools/permit",
		"ui/slash/checking", "ui/slash/inforce", "ui/slash/permissions", "ui/slash/serving", "ui/slash/timetable",
		"ui/slash/trusting",
	},
	"ui/slash/inforce":  {"agents/briefs", "agents/event", "agents/instructions", "agents/prompts", "ui/frame"},
	"ui/slash/checking": {"agents/checks", "store", "tools", "ui/frame"},
	"ui/slash": {
		"agents", "agents/choices", "agents/event", "agents/fleet", "agents/history", "agents/ledger", "agents/mail",
		"agents/memory", "agents/roster", "agents/schedule", "inbox", "inbox/policy", "store/config/near", "themes", "tools",
		"tools/allowance", "tools/permit", "ui/composer", "ui/dialog", "ui/files", "ui/intent", "ui/manual",
		"ui/slash/checking", "ui/slash/custom", "ui/slash/documents", "ui/slash/facets", "ui/slash/inforce",
		"ui/slash/options", "ui/slash/permissions", "ui/slash/serving", "ui/slash/signing", "ui/slash/spending",
		"ui/slash/timetable", "ui/slash/trail", "ui/slash/trusting", "ui/tabs", "ui/transcript", "ui/words",
	},
	"ui/slash/options": {"store/config/near", "tools"},
	"ui/slash/trail":   {"agents/audit", "themes", "ui/dialog", "ui/intent", "ui/slash/facets", "ui/words"},
	"ui/tabs": {
		"agents/event", "agents/history", "agents/ledger", "inbox", "inbox/policy", "themes", "tools", "tools/permit",
		"ui/composer", "ui/dialog", "ui/frame", "ui/transcript", "ui/words",
	},
	"ui/welcome": {"agents/event", "themes", "ui/frame", "ui/tabs", "ui/transcript"},
	"ui/words": {
		"agents/audit", "agents/event", "agents/fleet", "agents/ledger", "agents/roster", "inbox", "themes", "ui/frame",
	},
	"ui/uitest":                  {"*"},
	"ui/uitest/figures":          {},
	"ui/uitest/adapters":         {},
	".ci/house":                  {".ci/house/tree"},
	".ci/house/promises":         {".ci/house/tree"},
	".ci/house/tree":             {},
	".ci/long":                   {},
	".ci/parallel":               {},
	".ci/tools/typecheck":        {},
	"agents/disk":                {"store"},
	"agents/commands":            {"tools/proc"},
	"agents/single":              {"agents/ending", "agents/event", "agents/fleet", "agents/turn", "store"},
	"ui/slash/spending":          {"agents/budget", "agents/event", "tools/allowance"},
	"ui/manual":                  {"themes", "ui/dialog", "ui/intent", "ui/markdown"},
	"ui/slash/documents":         {"agents/memory", "inbox", "ui/frame", "ui/intent", "ui/slash/facets", "ui/transcript", "ui/words"},
	"ui/term":                    {},
	"tools/pattern":              {},
	"agents/history/historytest": {"agents/history", "agents/llm"},
	"agents/acp":                 {"agents/acp/rpc", "agents/acp/schema", "agents/acp/draft", "tools", "tools/proc"},
	"agents/acp/draft":           {"agents/acp/schema"},
	"agents/acp/rpc":             {},
	"agents/acp/schema":          {},
	"agents/acp/acptest":         {"agents/acp/rpc"},
	"agents/acp/vendor": {
		"agents/acp", "agents/acp/schema", "agents/engine", "agents/llm", "tools", "tools/content", "tools/proc",
	},
	"agents/acp/vendortest": {
		"agents/acp", "agents/acp/acptest", "agents/acp/schema", "agents/acp/vendor", "agents/engine", "tools", "tools/proc",
	},
	"agents/engine": {"agents/llm", "tools", "tools/proc"},
	"agents/seat": {
		"agents/budget", "agents/engine", "agents/event", "agents/fleet", "agents/history", "agents/llm", "agents/questions",
		"agents/recovery", "agents/reply", "store", "tools", "tools/permit", "tools/secret",
	},
	"agents/abreast":    {},
	"ui/slash/trusting": {"agents/hooks", "agents/trust", "themes", "ui/dialog", "ui/intent"},
	"agents/kit": {
		"agents/event", "agents/history", "agents/instructions", "agents/ledger", "agents/llm", "agents/skills", "agents/turn",
		"tools", "tools/permit",
	},
	"ui/slash/custom": {
		"agents/history", "agents/roster", "agents/skills", "tools", "tools/mcp", "ui/composer", "ui/dialog", "ui/frame",
		"ui/intent",
	},
	"agents/choices":       {"store", "tools/permit"},
	"ui/slash/permissions": {"agents/permissions", "tools/permit", "tools/permit/toolrule", "ui/frame"},
	"ui/cli/rulebook": {
		"agents/permissions", "store/config/paths", "store/config/rulefile", "store/config/settings", "tools/permit/toolrule",
		"ui/cli/watch",
	},
	"tools/offer":      {},
	"ui/slash/serving": {"agents/brought", "agents/servers", "agents/trust", "tools/mcp", "tools/mcp/signin", "ui/frame"},
	"ui/cli/mcplist": {
		"agents/servers", "agents/trust", "store/config", "tools", "tools/mcp", "tools/mcp/login", "tools/mcp/signin",
		"tools/proc", "tools/sandbox", "tools/secret", "ui/cli/doctor", "ui/cli/watch", "ui/frame", "ui/slash/serving",
	},
	"agents/servers":        {"agents/trust", "store/config", "tools/mcp", "tools/proc", "tools/secret"},
	"store/config/settings": {"store/config/walk"},
	"agents/inline": {
		"agents/program", "agents/skills", "agents/trust", "tools", "tools/permit", "tools/permit/bash", "tools/sandbox",
	},
	"agents/program":    {"tools/permit", "tools/proc", "tools/sandbox", "tools/secret"},
	"tools/tree":        {},
	"agents/typed":      {"agents/event", "agents/roster", "agents/schedule", "agents/skills", "store"},
	"agents/brought":    {"agents/briefs", "agents/hooks", "agents/servers", "agents/skills", "agents/trust", "tools/mcp"},
	"tools/spelling":    {},
	"tools/ownfile":     {},
	"tools/mcp/address": {},
	"tools/mcp/frames":  {},
	"tools/mcp/paging":  {},
	"agents/sampling": {
		"agents/budget", "agents/event", "agents/fleet", "agents/history", "agents/llm", "agents/reply", "store", "tools",
		"tools/sample", "tools/secret",
	},
	"tools/sample":       {},
	"tools/mcp/sampling": {"tools/sample"},
	"tools/mcp/form":     {"tools", "tools/content", "tools/mcp/address"},
	"ui/cli/veil":        {"tools/permit"},
	"tools/mcp/signin":   {"tools", "tools/mcp/login"},
	"ui/slash/signing": {
		"themes", "tools", "tools/mcp/signin", "ui/dialog", "ui/intent", "ui/slash/serving", "ui/transcript", "ui/words",
	},
	"tools/picture":             {},
	"tools/mcp/login/logintest": {},
}

// confined says where a module outside of ours may be imported. A path ends in
// /... when the packages below it count too.
var confined = []house.Confined{
	{Module: "database/sql", Places: []string{"store", "store/sqlite"}}, // its rows are read in the one, its connections are the other's
	{Module: "modernc.org/sqlite", Places: []string{"store/sqlite"}},
	{Module: "charm.land/lipgloss", Places: []string{"ui/...", "themes"}},
	{Module: "charm.land/bubbletea", Places: []string{"ui/..."}},
	{Module: "charm.land/bubbles", Places: []string{"ui/..."}},
	{Module: "charm.land/glamour", Places: []string{"ui/markdown"}},
	{Module: "github.com/charmbracelet/x", Places: []string{"ui/..."}},
	{Module: "github.com/anthropics", Places: []string{"agents/llm/anthropic"}},
	{Module: "github.com/openai", Places: []string{"agents/llm/openai"}},
	{Module: "github.com/fsnotify", Places: []string{"ui/cli/watch"}},
	{Module: "github.com/goccy/go-yaml", Places: []string{"inbox/rules", "tools/front"}},
	{Module: "github.com/pelletier/go-toml", Places: []string{"store/config", "store/config/rulefile", "themes"}},
	{Module: "github.com/adhocore/gronx", Places: []string{"agents/schedule/when"}},
	{Module: "github.com/spf13", Places: []string{"ui/cli", "ui/cli/errand", "ui/cli/shell"}},
	{Module: "github.com/modelcontextprotocol", Places: []string{"tools/mcp", "tools/mcp/form", "tools/mcp/frames", "tools/mcp/login", "tools/mcp/sampling", "ui/cli", "ui/cli/mcplist", "ui/cli/mcpserver"}},
	{Module: "mvdan.cc/sh", Places: []string{"tools/permit/bash"}},
}

// starters are the places that may say `go`. All other code is given a function
// that starts goroutines, so that a panic in one restores the terminal; these
// are that function, what must not depend on it, and servers of tests. A
// package may have `func(_ string, f func()) { go f() }` for want of another.
var starters = []string{"ui/cli/guard/guard.go", "tools/proc/...", "tools/sandbox/...", "agents/llm/llmtest/...", "ui/uitest/...", "ui/screen/...", "ui/cli/host/client.go"}

// top is what may stand beside main.go, besides dot-files.
var top = []string{
	"main.go", "main_test.go", "agents", "inbox", "store", "themes", "tools", "ui", "README.md", "LICENSE", "go.mod", "go.sum",
	"fantail", // the built program, which git ignores
}

// memory are the functions that may look at memory inside a transaction, and why what they
// find there may be older than the tx. None of it is written back.
var memory = map[string]string{
	"agents/waits.Table.Awaited":   "who waits is in memory only; who begins to wait beside this finds the message gone",
	"agents/fleet.Fleet.ModelOf":   "the row may name a model that is no longer configured; memory has the one that took its place",
	"agents/mail.Room.Arrivals":    "policies decide from memory; mail that enters beside a change of them entered before it",
	"agents/fork.Forks.handled":    "what a fork was made for, which is set once, before it begins",
	"agents/seal.Key.Spent":        "a task is spent for good or until the human renews it; StartTask and RemoveTask read the row",
	"agents/fleet.Agent.Halted":    "what stopped the agent is in memory only, and was set before its turn could end of it",
	"agents/audit.Log.judgement":   "what decided about a call is in memory only, and is noted before the call begins",
	"agents/history.Words.Rest":    "the words are what is written; nobody but their scribe writes them down",
	"agents/observer.Room.watcher": "what an observer was told is in memory only, and was said before its turn ended",
}

// later are the functions that run a function they are given at another time.
var later = []string{"AfterCommit", "AfterFunc", "Go", "start", "nameFor", "NameFor"}

// plan is what the rules hold the source to.
func plan(t *testing.T) house.Plan {
	t.Helper()
	return house.Plan{Arrows: arrows, Confined: confined, Starters: starters, Top: top, Later: later, Memory: memory, Gate: "ui/screen", Sizes: sizes(t)}
}

// listed is where the sizes stand of what is too large.
const listed = ".ci/house/sizes.txt"

func sizes(t *testing.T) house.Sizes {
	t.Helper()
	text, err := os.ReadFile(listed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := house.ReadSizes(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var lower = flag.Bool("lower", false, "write down the sizes that fell")

// TestSizes lowers the list of sizes to what was reached: go test . -run TestSizes -lower.
// TestRules holds the source to it.
func TestSizes(t *testing.T) {
	if !*lower {
		t.Skip("it only writes, with -lower")
	}
	low, err := sizes(t).Lowered(whole(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(listed, []byte(low.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// promised are the numbers of what the specification promises and tests hold.
var promised = []promises.Range{
	{Letter: "O", From: 1, To: 87},
	{Letter: "N", From: 1, To: 37},
	{Letter: "Q", From: 1, To: 59},
	{Letter: "C", From: 1, To: 24},
	{Letter: "C", From: 29, To: 29},
	{Letter: "E", From: 1, To: 16},
	{Letter: "E", From: 19, To: 35},
	{Letter: "M", From: 1, To: 45},
}

// built is what the go command knows of the packages; it is asked once.
var built = sync.OnceValues(tree.Build)

// whole is this source.
func whole(t *testing.T) *tree.Tree {
	t.Helper()
	b, err := built()
	if err != nil {
		t.Fatal(err)
	}
	wood, err := tree.Read(os.DirFS("."), b)
	if err != nil {
		t.Fatal(err)
	}
	return wood
}

// small is a tree as tree.Small reads it.
func small(t *testing.T, text string) *tree.Tree {
	t.Helper()
	b, err := built()
	if err != nil {
		t.Fatal(err)
	}
	wood, err := tree.Small(text, b)
	if err != nil {
		t.Fatal(err)
	}
	return wood
}

func TestRules(t *testing.T) {
	wood := whole(t)
	for _, r := range plan(t).Rules() {
		t.Run(r.Name, func(t *testing.T) {
			for _, f := range r.Check(wood) {
				t.Error(f)
			}
			if r.Whole != nil {
				for _, f := range r.Whole(wood) {
					t.Error(f)
				}
			}
		})
		t.Run(r.Name+" bites", func(t *testing.T) {
			for i, bad := range r.Bad {
				if f := r.Check(small(t, bad)); len(f) == 0 {
					t.Errorf("accepts the bad source %d:\n%s", i, bad)
				}
			}
			for i, good := range r.Good {
				for _, f := range r.Check(small(t, good)) {
					t.Errorf("refuses the good source %d: %s\n%s", i, f, good)
				}
			}
		})
	}
}

// TestPromises lists which tests hold which promise: go test -run Promises -v .
// It fails where there is none.
func TestPromises(t *testing.T) {
	wood := whole(t)
	for _, f := range promises.Check(wood, promised) {
		t.Error(f)
	}
	table, _ := promises.Held(wood)
	for _, id := range slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(cmp.Compare(a[:1], b[:1]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	}) {
		t.Logf("%-5s %s", id, strings.Join(table[id], " "))
	}
}

func TestPromises_refusesWhatIsNoTest(t *testing.T) {
	for source, want := range map[string]string{
		"-- a_test.go --\npackage a\n// Spec: Q-1, Q-2.\nfunc TestA() {}\n":      "",
		"-- a_test.go --\npackage a\n// Spec: Q1.\nfunc TestA() {}\n":            "no number",
		"-- a_test.go --\npackage a\n// Spec: Q-1.\nfunc a() {}\n":               "which is no test",
		"-- a.go --\npackage a\n// Spec: Q-1.\nfunc TestA() {}\n":                "which is no test",
		"-- a_test.go --\npackage a\n// Specs: Q-1 and so on\nfunc TestA() {}\n": "",
	} {
		wood := small(t, source)
		table, f := promises.Held(wood)
		if got := strings.Join(f, "; "); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: %q", source, got)
		}
		if want == "" && len(promises.Check(wood, promised)) != 286-len(table) {
			t.Errorf("%q: %d findings", source, len(promises.Check(wood, promised)))
		}
	}
}

// TestLong: .ci/run has tests try as often as they do in a long run; an ordinary run is short.
func TestLong(t *testing.T) {
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\s*export (FANTAIL_\w+)=(\w+)$`).FindSubmatch(script)
	if m == nil {
		t.Fatal(".ci/run asks for no long run")
	}
	for said, want := range map[string]int{"": 3, "0": 3, "-1": 3, "yes": 3, string(m[2]): 50, "10": 500} {
		t.Setenv(string(m[1]), said)
		if got := long.Times(3, 50); got != want {
			t.Errorf("%q: %d times, want %d", said, got, want)
		}
	}
	t.Setenv("FANTAIL_TEST_SEED", "18446744073709551615")
	if got := long.Seed(t); got != 1<<64-1 {
		t.Errorf("seed %d", got)
	}
	t.Setenv("FANTAIL_TEST_SEED", "")
	if a, b := long.Seed(t), long.Seed(t); a == b {
		t.Errorf("the seed is %d twice", a)
	}
}

func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile("(?m)^```sh\n(?:.*\n)*?go test \\./\\.\\.\\.").Match(data) {
		t.Error("README.md has no sh block with the test command, which .ci/run calls")
	}
	m := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(data)
	if m == nil {
		t.Fatal("README.md shows no configuration")
	}
	file := path.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, m[1], 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(file); err != nil || len(c.Rules.Allow) == 0 || c.Model == "" {
		t.Errorf("the configuration README.md shows: %+v, %v", c, err)
	}
}
