// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
)

// storeFlags are the flags for the store of a URL.
type storeFlags struct {
	// ca is a file of certificate authorities. Empty is those of the system.
	ca string
}

func (f *storeFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.ca, "store-ca", "", "File with the certificate authorities of the store, in PEM, in addition to those of the system")
}

// object returns the location of a snapshot's URL, or nil if the argument is no URL.
func (f storeFlags) object(arg string) (*blob.Location, error) {
	if !blob.IsURL(arg) {
		if f.ca != "" {
			return nil, errors.New("--store-ca can only be used with the URL of a bucket")
		}
		return nil, nil
	}
	l, err := blob.ParseObject(arg)
	if err != nil {
		return nil, err
	}
	l, err = l.Trusting(f.ca)
	return &l, err
}

// folder returns the location of a folder's URL.
func (f storeFlags) folder(url string) (blob.Location, error) {
	l, err := blob.ParseFolder(url)
	if err != nil {
		return l, err
	}
	return l.Trusting(f.ca)
}
