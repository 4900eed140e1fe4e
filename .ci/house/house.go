// Package house is the rules of the architecture, read out of the source.
//
// Does: check the source, each rule with a sentence that says what to do; show each
// rule small sources that it must refuse and some that it must accept.
//
// Does not: know this program's own packages and sizes: main_test.go has them.
package house

import "fantail/.ci/house/tree"

// Plan configures the rules.
type Plan struct {
	Layers   [][]string // the packages, lower ones first; each may import those before it
	Confined []Confined
	Starters []string // packages that may contain `go` statements
	Top      []string // names allowed beside main.go, besides dot-files

	// Later are the functions that run a function argument at another time: after a commit, or in a
	// goroutine.
	Later []string
	// Memory are the functions that may look at memory inside a transaction, with the reason.
	Memory map[string]string
	Sizes  Sizes
	// Gate is the package that runs before the rest of the program exists. It alone has an init
	// function, and it starts programs with the environment of its process.
	Gate string
}

// Confined says where another module may be imported. A place that ends in /... includes the
// packages below it.
type Confined struct {
	Module string
	Places []string
}

// Rule is a rule with sample sources, in the format of tree.Small.
type Rule struct {
	Name  string
	Check func(*tree.Tree) tree.Findings
	Bad   []string                       // it must refuse each of these
	Good  []string                       // it must accept each of these
	Whole func(*tree.Tree) tree.Findings // an additional check of the whole source; nil: none
}

// Rules returns all rules.
func (plan Plan) Rules() (all []Rule) {
	for _, some := range [][]Rule{plan.imports(), plan.sql(), plan.state(), plan.code(), plan.names(), plan.comments(), plan.locks(), plan.sizes(), plan.words()} {
		all = append(all, some...)
	}
	return all
}
