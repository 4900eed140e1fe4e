package house

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"fantail/.ci/house/tree"
)

// sql returns the rules on SQL and on append-only entries.
func (plan Plan) sql() []Rule {
	return []Rule{
		{Name: "SQL stands in store and inbox", Check: checkSQL, Bad: []string{
			"-- agents/a.go --\npackage agents\nconst q = \"SELECT id FROM tasks\"\n",
			"-- agents/a_test.go --\npackage agents\nconst q = `\n\tUPDATE tasks SET state = 1`\n",
			"-- inbox/rules/a.go --\npackage rules\nconst q = \"SELECT data FROM policies\"\n",
			"-- store/a.go --\npackage store\nconst q = \"INSERT INTO messages (body) VALUES (?)\"\n",
			"-- store/a.go --\npackage store\nconst q = \"SELECT n FROM tasks JOIN counts ON 1\"\n",
			"-- agents/schedule/a.go --\npackage schedule\nconst q = \"SELECT n FROM tasks\"\n",
			"-- agents/schedule/a.go --\npackage schedule\nconst q = \"UPDATE messages SET taken = 1\"\n",
		}, Good: []string{
			"-- agents/schedule/a.go --\npackage schedule\nconst q = \"SELECT name FROM schedules\"\n",
			"-- inbox/a.go --\npackage inbox\nconst q = \"UPDATE messages SET taken = 1\"\n",
			"-- agents/a.go --\npackage agents\nconst q = \"Select one of the models\"\n",
		}},
		{Name: "entries are append-only", Check: checkAppendOnly, Bad: []string{
			"-- store/a.go --\npackage store\nconst q = \"UPDATE entries SET text = ?\"\n",
			"-- inbox/a.go --\npackage inbox\nconst q = \"delete from entries where seq = 1\"\n",
			"-- store/migrations/2.sql --\nCREATE TRIGGER a BEFORE UPDATE ON entries BEGIN SELECT 1; END;\n",
			"-- store/migrations/2.sql --\nCREATE TRIGGER a BEFORE UPDATE ON entries\nCREATE TRIGGER b BEFORE DELETE ON entries\nDELETE FROM entries;\n",
		}, Good: []string{
			"-- store/migrations/2.sql --\nCREATE TRIGGER a BEFORE UPDATE ON entries\nCREATE TRIGGER b BEFORE DELETE ON entries\n-- store/a.go --\npackage store\nconst q = \"INSERT INTO entries VALUES (?)\"\n",
		}},
	}
}

var (
	sqlText  = regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|REPLACE|VACUUM|WITH|ATTACH|SAVEPOINT)\s+[A-Za-z_(*"]`)
	mailSQL  = regexp.MustCompile(`(?i)\b(FROM|INTO|UPDATE|JOIN|TABLE)\s+(messages|counts|mutes|policies)\b`)
	otherSQL = regexp.MustCompile(`(?i)\b(FROM|INTO|UPDATE|JOIN|TABLE)\s+(agents|turns|entries|tasks|approvals|settings|drafts|memories)\b`)
	entrySQL = regexp.MustCompile(`(?i)\b(UPDATE\s+(OR\s+\w+\s+)?entries|DELETE\s+FROM\s+entries|REPLACE\s+INTO\s+entries|DROP\s+TABLE\s+(IF\s+EXISTS\s+)?entries)\b`)
)

// querying are the packages that may contain SQL.
var querying = []string{"store", "store/sqlite", "inbox", "inbox/policy", "agents/schedule"}

func checkSQL(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if tree.Under(s.Dir, []string{".ci/house/..."}) {
			continue
		}
		s.Literals(func(n ast.Node, text string) {
			switch {
			case !sqlText.MatchString(text):
			case !slices.Contains(querying, s.Dir):
				f.Add("%s: SQL stands only in %s; ask one of them for what is needed", t.At(n), strings.Join(querying, ", "))
			case (s.Dir == "store" || s.Dir == "agents/schedule") && !s.Test && mailSQL.MatchString(text):
				f.Add("%s: the tables messages, counts, mutes and policies belong to inbox; move the statement there", t.At(n))
			case s.Dir == "agents/schedule" && !s.Test && otherSQL.MatchString(text):
				f.Add("%s: agents/schedule owns the tables schedules and schedule_runs only; ask store for the rest", t.At(n))
			}
		})
	}
	return f
}

func checkAppendOnly(t *tree.Tree) (f tree.Findings) {
	for _, s := range t.Files {
		if s.Test || tree.Under(s.Dir, []string{".ci/house"}) { // a test may show that the triggers work
			continue
		}
		s.Literals(func(n ast.Node, text string) {
			if entrySQL.MatchString(text) {
				f.Add("%s: entries are append-only; append an entry that says what changed", t.At(n))
			}
		})
	}
	schema := ""
	for _, p := range slices.Sorted(maps.Keys(t.Texts)) {
		if path.Ext(p) != ".sql" {
			continue
		}
		schema += t.Texts[p]
		for i, line := range strings.Split(t.Texts[p], "\n") {
			if entrySQL.MatchString(line) {
				f.Add("%s:%d: entries are append-only; a migration must not change them either", p, i+1)
			}
		}
	}
	for _, verb := range []string{"UPDATE", "DELETE"} {
		if !regexp.MustCompile(`(?i)CREATE\s+TRIGGER\s+\w+\s+BEFORE\s+` + verb + `\s+ON\s+entries\b`).MatchString(schema) {
			f.Add("store/migrations: no trigger refuses %s on entries; create one", verb)
		}
	}
	return f
}
