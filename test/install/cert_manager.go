// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	_ "embed" // the manifests of cert-manager
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

//go:embed cert-manager.yaml
var certManager []byte

// AddCertManager runs cert-manager on a testbed, and waits until it is Ready. progress receives
// the build messages, because a build can take minutes.
func AddCertManager(ctx context.Context, tb Testbed, progress io.Writer) error {
	if err := images.Push(ctx, programs.Cache{}, tb.Registry(), []string{images.CertManager}, progress); err != nil {
		return err
	}
	k, definitions, err := certManagerOn(ctx, tb)
	if err != nil {
		return err
	}
	if _, err := k.kubectl(ctx, nil, "apply", "--server-side", "-f", definitions); err != nil {
		return err
	}
	if _, err := k.kubectl(ctx, certManager, "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	for _, part := range []string{"controller", "cainjector", "webhook"} {
		if _, err := k.kubectl(ctx, nil, "rollout", "status", "deployment/cert-manager-"+part, "-n", "cert-manager", "--timeout", "8m"); err != nil {
			return fmt.Errorf("install cert-manager: %w", err)
		}
	}
	return await(ctx, "cert-manager's webhook to be trusted", k.certManagerTrusted)
}

// certManagerTrusted reports whether API servers trust cert-manager's own webhook. Without this
// trust, cert-manager issues no certificate. cainjector sometimes misses a Secret that is
// created while it starts, and checks again when the configuration changes.
func (k *kube) certManagerTrusted(ctx context.Context) (seen string, done bool, err error) {
	for _, kind := range []string{"mutatingwebhookconfiguration", "validatingwebhookconfiguration"} {
		text, err := k.kubectl(ctx, nil, "get", kind, "cert-manager-webhook", "-o", "jsonpath={.metadata.resourceVersion} {.webhooks[0].clientConfig.caBundle}")
		if err != nil {
			return "", false, err
		}
		if version, authority, _ := strings.Cut(string(text), " "); authority == "" {
			_, err := k.kubectl(ctx, nil, "annotate", "--overwrite", kind, "cert-manager-webhook", "testbed.kubectl-etcd.dev/seen-without-authority="+version)
			return kind + " has no caBundle", false, err
		}
	}
	return "", true, nil
}

// RemoveCertManager removes cert-manager with its definitions, and thus all certificate objects.
func RemoveCertManager(ctx context.Context, tb Testbed) error {
	k, definitions, err := certManagerOn(ctx, tb)
	if err != nil {
		return err
	}
	if _, err := k.kubectl(ctx, certManager, "delete", "--ignore-not-found", "--timeout", "8m", "-f", "-"); err != nil {
		return err
	}
	_, err = k.kubectl(ctx, nil, "delete", "--ignore-not-found", "--timeout", "8m", "-f", definitions)
	return err
}

// certManagerOn connects to a testbed and returns the folder of cert-manager's definitions.
func certManagerOn(ctx context.Context, tb Testbed) (k *kube, definitions string, err error) {
	if definitions, err = programs.CertManagerDefinitions(ctx); err != nil {
		return nil, "", err
	}
	k, err = connect(tb)
	return k, definitions, err
}
