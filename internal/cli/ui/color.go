// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// ColorMode is the value of --color.
type ColorMode string

const (
	colorAuto   ColorMode = "auto"
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// String, Set and Type implement pflag.Value.
func (c *ColorMode) String() string { return string(*c) }

// Set takes one of the three modes.
func (c *ColorMode) Set(text string) error {
	switch mode := ColorMode(strings.ToLower(text)); mode {
	case colorAuto, ColorAlways, ColorNever:
		*c = mode
		return nil
	}
	return fmt.Errorf("must be auto, always or never")
}

// Type is what help calls the value.
func (c *ColorMode) Type() string { return "mode" }

// Color is the number of a terminal's colour; the zero Color is none.
type Color int

const (
	NoColor Color = 0
	Bold    Color = 1
	Dim     Color = 2
	Red     Color = 31
	Green   Color = 32
	Yellow  Color = 33
)

// Paints says whether what goes to a stream is coloured. Colour never says
// anything that the words beside it don't.
func (e *Console) Paints(w io.Writer) bool {
	if c, ok := w.(*Screen); ok {
		return c.colored
	}
	switch {
	case e.Color == ColorAlways:
		return true
	case e.Color == ColorNever, os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	_, ok := Terminal(w)
	return ok && os.Getenv("TERM") != "dumb"
}

// Paint colours a text for a stream, where that is wanted.
func (e *Console) Paint(w io.Writer, c Color, text string) string {
	if c == NoColor || text == "" || !e.Paints(w) {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", c, text)
}
