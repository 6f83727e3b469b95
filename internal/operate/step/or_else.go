// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"strings"
)

// OrElse does an action, and another one if that fails. It fails in any case then.
type OrElse struct{ Act, Else Action }

// Command implements Action.
func (o OrElse) Command(f Flags) string {
	return fmt.Sprintf("%s || { %s; false; }", o.Act.Command(f), strings.ReplaceAll(o.Else.Command(f), "\n", "\n  "))
}

// Do implements Action.
func (o OrElse) Do(ctx context.Context, c Clients) error {
	err := o.Act.Do(ctx, c)
	if err == nil {
		return nil
	}
	if failed := o.Else.Do(ctx, c); failed != nil {
		return fmt.Errorf("%w; then: %w", err, failed)
	}
	return err
}
