package sandbox

import "testing"

// A command makes sockets of names only where it reaches nobody by a name that is in no file system.
func TestBox_sockets(t *testing.T) {
	for _, c := range []struct {
		wall *Wall
		net  bool
		unix bool
	}{
		{&Wall{Kind: Namespaces, abi: 5}, false, true}, // those names belong to its own network
		{&Wall{Kind: Namespaces, abi: 5}, true, false},
		{&Wall{Kind: Namespaces, abi: 6}, true, true},
		{&Wall{Kind: Bubblewrap, abi: 5}, true, false},
		{&Wall{Kind: Bubblewrap, abi: 6}, true, true},
		{&Wall{Kind: Bubblewrap, abi: 6, setuid: true}, true, false},
		{&Wall{Kind: Bubblewrap, abi: 6, setuid: true}, false, true},
		{&Wall{Kind: Landlock, abi: 7}, false, false},
		{&Wall{Kind: Landlock, abi: 7}, true, false},
	} {
		b := &Box{wall: c.wall, view: view{net: c.net}}
		if got := b.sockets(); got.unix != c.unix {
			t.Errorf("%s, ABI %d, setuid %v, network %v: sockets of names %v", c.wall.Kind, c.wall.abi, c.wall.setuid, c.net, got.unix)
		}
	}
}
