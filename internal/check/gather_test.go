// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
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

// TestFillOfWhatIsNotKnown has no measurement where the pods or the claims that it
// would be of can't be read.
func TestFillOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, f := range []*Facts{{Pods: got(healthy(1).Pods.Value, errRefused)}, {Claims: got(healthy(1).Claims.Value, errRefused)}} {
		g := gatherer{Facts: f}
		if fill, err := g.fill(t.Context()); !errors.Is(err, errRefused) {
			t.Errorf("got %v, %v", fill, err)
		}
	}
}
