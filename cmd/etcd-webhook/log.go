// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
)

// newLogger returns a logger that writes one JSON object a line. Libraries also log objects
// with a String method. The logger writes that string and not their fields.
func newLogger(to io.Writer, level slog.Level) logr.Logger {
	return logr.FromSlogHandler(slog.NewJSONHandler(to, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if named, ok := a.Value.Any().(fmt.Stringer); ok && a.Value.Kind() == slog.KindAny {
				a.Value = slog.StringValue(named.String())
			}
			return a
		},
	}))
}
