package mcp

import (
	"strings"
	"testing"
)

func TestVisit(t *testing.T) {
	for text, host := range map[string]string{
		"https://login.example.com/x?y=z": "login.example.com", "http://127.0.0.1:8080/": "127.0.0.1:8080",
		"javascript:alert(1)": "", "file:///etc/passwd": "", "https:///x": "", "x": "", "": "", "ftp://a.example/": "",
		"https://bank.example@evil.example/": "", "https://a.example/\x1b[2J": "", "https://a.example/\u202egpj.exe": "",
		"https://аpple.example/": "", "https://a.example/" + strings.Repeat("x", maxAddress): "", "https://a.example/ b": "",
	} {
		u, err := BrowserURL(text)
		if (err == nil) != (host != "") || err == nil && u.Host != host {
			t.Errorf("%q: %v, %v", text, u, err)
		}
	}
}
