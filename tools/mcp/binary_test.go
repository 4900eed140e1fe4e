package mcp

import (
	"bytes"
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fantail/tools"
)

// What of a result is no text stands in files, which the text names; a model gets what is a picture, whatever the server
// says that it is.
func TestKeeps(t *testing.T) {
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	k := &binaryFiles{env: &tools.Runtime{Outputs: t.TempDir()}, id: "../x"}
	res := &mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: "see"},
		&mcp.ImageContent{MIMEType: "text/html\x1b[2J", Data: png},
		&mcp.ImageContent{MIMEType: "image/png", Data: []byte("no picture")},
		&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("la la")},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "a://b", MIMEType: "image/png", Blob: png}},
	}}
	lines := strings.Split(resultText(res, k.save), "\n")
	for n, want := range []string{
		"see", "[an image (image/png, 1×1, 70 bytes), kept in ", "[an image (image/png, 10 bytes), kept in ", "[a sound (audio/wav, 5 bytes), kept in ",
		"[the resource a://b (image/png, 1×1, 70 bytes), kept in ",
	} {
		if n >= len(lines) || !strings.HasPrefix(lines[n], want) {
			t.Errorf("line %d is not %q: %q", n, want, lines)
		}
	}
	if len(k.pictures) != 2 || !strings.HasSuffix(lines[2], "not shown: no sort of picture that models take]") {
		t.Fatalf("%+v, %q", k.pictures, lines)
	}
	for _, i := range k.pictures {
		if got, err := os.ReadFile(i.File); err != nil || !bytes.Equal(got, png) {
			t.Errorf("%s holds %d bytes, %v", i.File, len(got), err)
		}
	}
	for range 2 * maxBinaryParts {
		k.save("an image", "image/png", png)
	}
	if all, _ := os.ReadDir(k.env.Outputs); len(all) != maxBinaryParts || len(k.pictures) != maxBinaryParts-2 {
		t.Errorf("%d files, %d pictures", len(all), len(k.pictures))
	}
	if text := describeBinary("an image", "image/png", png); text != "[an image (image/png, 70 bytes), which is not shown here]" {
		t.Error(text)
	}
}
