// Package ui is the program on the screen: keys become intents, intents act, events change what is drawn.
//
// App.act alone has side effects; View returns what is drawn already.
package ui
