// Package house is the rules of the architecture, read out of the source.
//
// Does: check the source, each rule with a sentence that says what to do; show each
// rule small sources that it must refuse and some that it must accept.
//
// Does not: know this program's own packages and sizes: main_test.go has them.
package house

import "fantail/.ci/house/tree"

// Plan is what the rules hold the source to.
type Plan struct {
	Layers   [][]string // the packages, lower ones first; each may import those before it
	Confined []Confined
	Starters []string // the places that may say `go`
	Top      []string // what may stand beside main.go, besides dot-files

	// Later are the functions that run a function they are given at another time: once a
	// transaction committed, or in a goroutine.
	Later []string
	// Memory are the functions that may look at memory inside a transaction, with the reason.
	Memory map[string]string
	Sizes  Sizes
	// Gate is the package that acts before anything else of the program exists: it alone has an
	// init function, and it starts programs as the shell does whose process it is.
	Gate string
}

// Confined says where a module outside of ours may be imported. A place ends in /...
// when the packages below it count too.
type Confined struct {
	Module string
	Places []string
}

// Rule is one rule with sources, written as tree.Small reads them.
type Rule struct {
	Name  string
	Check func(*tree.Tree) tree.Findings
	Bad   []string                       // it must refuse each of these
	Good  []string                       // and none of these
	Whole func(*tree.Tree) tree.Findings // what is looked for in the whole source only; nil: nothing
}

// Rules are all of them.
func (plan Plan) Rules() (all []Rule) {
	for _, some := range [][]Rule{plan.imports(), plan.sql(), plan.state(), plan.code(), plan.names(), plan.comments(), plan.locks(), plan.sizes()} {
		all = append(all, some...)
	}
	return all
}
