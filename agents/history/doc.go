// Package history handles transcripts: the entries, the requests made of them, and the documents that agents write.
package history
