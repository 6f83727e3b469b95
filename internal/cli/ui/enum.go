// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// enum is a flag that accepts one of a few values. Their case does not matter.
type enum[T ~string] struct {
	value   *T
	allowed []T
	kind    string
}

// AddEnum adds a flag for value, which holds the default, to flags of cmd, and completes its
// values. kind is the name of the value in help texts.
func AddEnum[T ~string](cmd *cobra.Command, flags *pflag.FlagSet, value *T, name, kind, usage string, allowed ...T) {
	e := &enum[T]{value: value, allowed: allowed, kind: kind}
	flags.Var(e, name, usage)
	values := cobra.FixedCompletions(e.names(), cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(name, values); err != nil {
		panic(err) // the flag was added above
	}
}

// String implements pflag.Value.
func (e *enum[T]) String() string { return string(*e.value) }

// Set implements pflag.Value.
func (e *enum[T]) Set(text string) error {
	i := slices.IndexFunc(e.allowed, func(v T) bool { return strings.EqualFold(string(v), text) })
	if i < 0 {
		return fmt.Errorf("must be %s", alternatives(e.names()))
	}
	*e.value = e.allowed[i]
	return nil
}

// Type implements pflag.Value.
func (e *enum[T]) Type() string { return e.kind }

func (e *enum[T]) names() []string {
	names := make([]string, len(e.allowed))
	for i, v := range e.allowed {
		names[i] = string(v)
	}
	return names
}

// alternatives joins two or more values: "a, b or c".
func alternatives(values []string) string {
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
