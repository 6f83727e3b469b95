// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Prompt prints a text that the user's answer follows in the same line.
func (c *Console) Prompt(format string, args ...any) {
	fmt.Fprint(c.ErrOut, oneLine(c.text(fmt.Sprintf(format, args...))))
}

// Ask reports whether the user confirms a question. Every answer except y or yes is a no.
func (c *Console) Ask(ctx context.Context, question string) (bool, error) {
	answer, err := c.AskFor(ctx, question+" [y/N]")
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

// AskFor asks the user for a line, and returns it without the spaces around it. At the end of the
// input it is what came before.
func (c *Console) AskFor(ctx context.Context, question string) (string, error) {
	c.Prompt("%s ", question)
	answers := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(c.In).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answers <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.ErrOut)
		return "", fmt.Errorf("nothing was changed: %w", context.Cause(ctx))
	case answer := <-answers:
		return strings.TrimSpace(answer), nil
	}
}
