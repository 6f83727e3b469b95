// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"os"
)

// ColorMode is the value of --color.
type ColorMode string

// The values of --color.
const (
	colorAuto   ColorMode = "auto"
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// ColorModes are the values of --color.
var ColorModes = []ColorMode{colorAuto, ColorAlways, ColorNever}

// Color is the ANSI code of a color. The zero Color is none.
type Color int

// The colors of the plugin's output.
const (
	NoColor Color = 0
	Bold    Color = 1
	Dim     Color = 2
	Red     Color = 31
	Green   Color = 32
	Yellow  Color = 33
)

// paints reports whether text for a stream is colored. Color is never the only carrier of
// information.
func (c *Console) paints(w io.Writer) bool {
	if screen, ok := w.(*Screen); ok {
		return screen.colored
	}
	switch {
	case c.Color == ColorAlways:
		return true
	case c.Color == ColorNever, os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	_, ok := Terminal(w)
	return ok && os.Getenv("TERM") != "dumb"
}

// paint returns the text in the color, or unchanged if the stream is not colored.
func (c *Console) paint(w io.Writer, color Color, text string) string {
	if color == NoColor || text == "" || !c.paints(w) {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", color, text)
}
