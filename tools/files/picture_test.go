package files

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func drawn(t *testing.T, w, h int, write func(b *bytes.Buffer, m image.Image) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOf(t *testing.T) {
	asPNG := func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }
	lossless := make([]byte, 30)
	copy(lossless, "RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f")
	binary.LittleEndian.PutUint32(lossless[21:], 99|49<<14)
	extended := make([]byte, 30)
	copy(extended, "RIFF\x00\x00\x00\x00WEBPVP8X")
	extended[24], extended[27] = 199, 9
	lossy, err := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data []byte
		sort string
		w, h int
		bad  string
	}{
		"png":      {drawn(t, 3, 2, asPNG), "image/png", 3, 2, ""},
		"gif":      {drawn(t, 4, 2, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }), "image/gif", 4, 2, ""},
		"jpeg":     {drawn(t, 5, 2, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }), "image/jpeg", 5, 2, ""},
		"webp":     {lossy, "image/webp", 1, 1, ""},
		"lossless": {lossless, "image/webp", 100, 50, ""},
		"extended": {extended, "image/webp", 200, 10, ""},
		"wide":     {drawn(t, maxSide+1, 1, asPNG), "image/png", maxSide + 1, 1, "8001×1 points"},
		"large":    {append(drawn(t, 3, 2, asPNG), make([]byte, MaxPictureBytes)...), "image/png", 3, 2, "bytes, which is more"},
		"cut":      {drawn(t, 3, 2, asPNG)[:12], "image/png", 0, 0, "broken"},
		"text":     {[]byte("<svg>"), "text/plain; charset=utf-8", 0, 0, "no sort"},
		"cut webp": {lossy[:20], "image/webp", 0, 0, "broken"},
		"nothing":  {nil, "text/plain; charset=utf-8", 0, 0, "no sort"},
	} {
		i, err := PictureOf(c.data)
		if i.Type != c.sort || i.Width != c.w || i.Height != c.h || (err == nil) != (c.bad == "") || err != nil && !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
	}
}

func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "outputs")
	data := drawn(t, 3, 2, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
	i, err := PictureOf(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"_____1-1.png", "_____1-2.png"} {
		if i.File, err = KeepPicture(dir, "../_/1", i.Type, data); err != nil || filepath.Base(i.File) != want {
			t.Fatalf("%s, %v", i.File, err)
		}
	}
	if got, err := i.Read(); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for what, change := range map[string]func() error{
		"another sort": func() error { return os.WriteFile(i.File, []byte("hello"), 0o600) },
		"gone":         func() error { return os.Remove(i.File) },
		"a link":       func() error { return os.Symlink("/etc/hostname", i.File) },
	} {
		_ = os.Remove(i.File)
		if what == "gone" {
			_ = os.WriteFile(i.File, data, 0o600)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if _, err := i.Read(); err == nil {
			t.Errorf("%s is read", what)
		}
	}
}
