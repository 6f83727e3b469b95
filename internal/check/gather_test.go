// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"
)

// TestCertificatesAskForSecrets holds what renews a serving certificate to be known
// also where that check runs alone.
func TestCertificatesAskForSecrets(t *testing.T) {
	t.Parallel()
	checks, err := Selection{Only: []string{"C001"}}.Checks()
	if err != nil {
		t.Fatal(err)
	}
	if checks[0].needs&needSecrets == 0 {
		t.Error("C001 alone doesn't ask for the Secrets that say what cert-manager renews")
	}
}
