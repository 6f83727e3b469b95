// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
)

// newLogger writes one JSON object a line. What the libraries log beside words
// and numbers are things that can name themselves, which JSON would take apart.
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
