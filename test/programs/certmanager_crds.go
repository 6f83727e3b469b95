// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
)

// CertManagerDefinitions returns the folder with the definitions of cert-manager's
// resources, as its module has them.
func CertManagerDefinitions(ctx context.Context) (string, error) {
	tree, err := findCheckout()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := goCommand(ctx, tree.module("programs/certmanager"), &out, io.Discard, "mod", "download", "-json", "github.com/cert-manager/cert-manager"); err != nil {
		return "", fmt.Errorf("find cert-manager's module: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out.Bytes(), &module); err != nil {
		return "", fmt.Errorf("find cert-manager's module: %w", err)
	}
	return filepath.Join(module.Dir, "deploy", "crds"), nil
}
