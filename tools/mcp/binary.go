package mcp

import (
	"fmt"
	"mime"

	"fantail/tools"
	"fantail/tools/files"
)

// maxBinaryParts limits the binary parts of a result that are saved.
const maxBinaryParts = 16

// binarySaver saves a binary part of a result and returns the text that replaces it.
type binarySaver func(what, sort string, data []byte) string

// describeBinary is a binarySaver that saves nothing.
func describeBinary(what, sort string, data []byte) string {
	return fmt.Sprintf("[%s (%s, %d bytes), which is not shown here]", what, mediaType(sort), len(data))
}

// mediaType returns the media type if it is valid, else words for an unknown one.
func mediaType(sort string) string {
	if is, _, err := mime.ParseMediaType(sort); err == nil && len(is) < 100 {
		return is
	}
	return "of no sort that is known"
}

// binaryFiles saves the binary parts of a call's result.
type binaryFiles struct {
	env      *tools.Runtime
	id       string
	n        int
	pictures []files.Picture // those that models accept
}

// save saves a part. Its bytes decide its type, not what the server says.
func (k *binaryFiles) save(what, sort string, data []byte) string {
	if k.n++; k.n > maxBinaryParts || k.env.Outputs == "" {
		return describeBinary(what, sort, data)
	}
	i, not := files.PictureOf(data)
	if not == nil {
		sort = i.Type
	}
	file, err := files.KeepPicture(k.env.Outputs, k.id, mediaType(sort), data)
	switch {
	case err != nil:
		return fmt.Sprintf("[%s (%s, %d bytes), which could not be kept: %v]", what, mediaType(sort), len(data), err)
	case not == nil:
		i.File = file
		k.pictures = append(k.pictures, i)
		return fmt.Sprintf("[%s (%s, %d×%d, %d bytes), kept in %s]", what, i.Type, i.Width, i.Height, len(data), file)
	case what == "an image":
		return fmt.Sprintf("[%s (%s, %d bytes), kept in %s, not shown: %v]", what, mediaType(sort), len(data), file, not)
	}
	return fmt.Sprintf("[%s (%s, %d bytes), kept in %s]", what, mediaType(sort), len(data), file)
}
