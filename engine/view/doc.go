// Package view is the read model behind the screens.
package view
