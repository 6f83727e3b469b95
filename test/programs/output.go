// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// downloading begins the line of a module that is being fetched.
const downloading = "go: downloading "

// kept is how many of the compiler's last lines an error shows.
const kept = 30

// compilerOutput reads what go build -v prints: packages and downloads move the
// progress, everything else is kept for the error.
type compilerOutput struct {
	step    *step
	partial []byte
	lines   []string
}

// Write implements io.Writer.
func (o *compilerOutput) Write(data []byte) (int, error) {
	o.partial = append(o.partial, data...)
	for {
		line, rest, whole := bytes.Cut(o.partial, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		o.line(string(line))
		o.partial = rest
	}
}

// line sorts one line.
func (o *compilerOutput) line(line string) {
	if module, ok := strings.CutPrefix(line, downloading); ok {
		o.step.downloading(module)
		return
	}
	if line != "" && !strings.ContainsAny(line, " \t") {
		o.step.compiled()
		return
	}
	o.lines = append(o.lines, line)
	if len(o.lines) > kept {
		o.lines = o.lines[1:]
	}
}

// tail returns the end of the output, with each line indented.
func (o *compilerOutput) tail() string {
	var tail strings.Builder
	for _, line := range append(o.lines, string(o.partial)) {
		if line != "" {
			tail.WriteString("\n\t" + line)
		}
	}
	return tail.String()
}

// downloads keeps what go list prints, and reports once when it has to
// download modules first.
type downloads struct {
	progress io.Writer
	title    string
	printed  bytes.Buffer
	reported bool
}

// Write implements io.Writer.
func (d *downloads) Write(data []byte) (int, error) {
	if !d.reported && bytes.Contains(data, []byte(downloading)) {
		d.reported = true
		fmt.Fprintf(d.progress, "downloading the modules of %s\n", d.title)
	}
	return d.printed.Write(data)
}
