// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operatetest

import (
	"strings"
	"testing"
)

// WantError checks that an error has a text, or that there is none for "".
func WantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil && text != "" || err != nil && (text == "" || !strings.Contains(err.Error(), text)) {
		t.Errorf("the error is %v, want %q", err, text)
	}
}
