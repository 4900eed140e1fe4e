package sandbox

import "testing"

// A command may make Unix sockets only if it can reach no abstract socket of other processes.
func TestBox_sockets(t *testing.T) {
	for _, c := range []struct {
		backend *Backend
		net     bool
		unix    bool
	}{
		{&Backend{Kind: Namespaces, abi: 5}, false, true}, // abstract names belong to its own network
		{&Backend{Kind: Namespaces, abi: 5}, true, false},
		{&Backend{Kind: Namespaces, abi: 6}, true, true},
		{&Backend{Kind: Bubblewrap, abi: 5}, true, false},
		{&Backend{Kind: Bubblewrap, abi: 6}, true, true},
		{&Backend{Kind: Bubblewrap, abi: 6, setuid: true}, true, false},
		{&Backend{Kind: Bubblewrap, abi: 6, setuid: true}, false, true},
		{&Backend{Kind: Landlock, abi: 7}, false, false},
		{&Backend{Kind: Landlock, abi: 7}, true, false},
	} {
		b := &Box{backend: c.backend, view: view{net: c.net}}
		if _, got := b.sockets(); got.unix != c.unix {
			t.Errorf("%s, ABI %d, setuid %v, network %v: sockets of names %v", c.backend.Kind, c.backend.abi, c.backend.setuid, c.net, got.unix)
		}
	}
}
