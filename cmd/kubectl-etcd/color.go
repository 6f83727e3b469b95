// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// colorMode is the value of --color.
type colorMode string

const (
	colorAuto   colorMode = "auto"
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

// String, Set and Type implement pflag.Value.
func (c *colorMode) String() string { return string(*c) }

// Set takes one of the three modes.
func (c *colorMode) Set(text string) error {
	switch mode := colorMode(strings.ToLower(text)); mode {
	case colorAuto, colorAlways, colorNever:
		*c = mode
		return nil
	}
	return fmt.Errorf("must be auto, always or never")
}

// Type is what help calls the value.
func (c *colorMode) Type() string { return "mode" }

// color is the number of a terminal's colour; the zero color is none.
type color int

const (
	noColor color = 0
	bold    color = 1
	dim     color = 2
	red     color = 31
	green   color = 32
	yellow  color = 33
)

// paints says whether what goes to a stream is coloured. Colour never says
// anything that the words beside it don't.
func (e *console) paints(w io.Writer) bool {
	if c, ok := w.(*canvas); ok {
		return c.colored
	}
	switch {
	case e.color == colorAlways:
		return true
	case e.color == colorNever, os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	_, ok := terminal(w)
	return ok && os.Getenv("TERM") != "dumb"
}

// paint colours a text for a stream, where that is wanted.
func (e *console) paint(w io.Writer, c color, text string) string {
	if c == noColor || text == "" || !e.paints(w) {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, text)
}
