package llm

// Model is a model as the program resolved it.
type Model struct {
	Name     string // provider/name, as shown
	Provider Provider
	ID       string            // the provider's own name
	Window   int               // tokens; 0: unknown
	MaxOut   int               // tokens of a reply; 0: the provider's default
	Sees     bool              // it takes pictures
	Price    func(Usage) int64 // millionths of a dollar; nil: unknown
	Vendor   string            // who serves it, as shown
	AtOnce   int               // background agents the vendor serves at once; 0: no bound
}
