// Package ui is the program on the screen: keys become intents, intents act, events change what is
// drawn.
//
// Only App.act has side effects. View returns the frame that is drawn already.
package ui
