// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"fmt"
	"io"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// Open is a world on a testbed that is up. It tells to teller and logs to out.
func Open(tb *testbed.Testbed, teller *Teller, out io.Writer) (*World, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("know the kinds of objects: %w", err)
		}
	}
	config, err := tb.RESTConfig()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to testbed %s: %w", tb.Name(), err)
	}
	return &World{Teller: teller, Testbed: tb, Client: c, Log: out}, nil
}
