// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// secretParts are parts of the names of parameters with credentials. kmskeyid of S3 names a key, and is not one.
var secretParts = []string{"secret", "token", "sig", "password", "key", "credential"}

func (l Location) checkParameters() error {
	p, supported := providerOf(l.scheme)
	for _, name := range slices.Sorted(maps.Keys(l.query)) {
		known := slices.Contains(p.parameters, name)
		secret := slices.ContainsFunc(secretParts, func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
		switch {
		case secret && !known:
			return fmt.Errorf("the parameter %q of the URL looks like a credential: remove it, and put the credentials into the environment (%s)", name, credentialsOf(l.scheme))
		case !supported, known:
		case len(p.parameters) == 0:
			return fmt.Errorf("a URL of this kind has no parameters (%s): remove %q", p.form, name)
		default:
			return fmt.Errorf("the URL has the unknown parameter %q; %s has %s", name, p.name, strings.Join(p.parameters, ", "))
		}
		if err := checkValue(name, l.query.Get(name)); err != nil {
			return err
		}
	}
	return nil
}

// account is the name of a storage account of Azure. It becomes a part of a host.
var account = regexp.MustCompile(`^[a-z0-9]{3,24}$`)

func checkValue(parameter, value string) error {
	switch {
	case parameter == "endpoint":
		return checkEndpoint(value)
	case parameter == "storage_account" && !account.MatchString(value):
		return errors.New("the storage_account of the URL must be 3 to 24 lower-case letters and digits")
	}
	return nil
}

func checkEndpoint(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the endpoint of the URL must be https://HOST:PORT or http://HOST:PORT")
	}
	if u.User != nil {
		return fmt.Errorf("the endpoint of the URL has a user or password before the host: remove it, and put the credentials into the environment (%s)", credentialsOf("s3"))
	}
	return nil
}
