// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
)

// rootPassword is the password of root in every cluster with authentication.
const rootPassword = "open-sesame"

// RootPassword returns the password that EnableAuth sets for root.
func (l layout) RootPassword() string { return rootPassword }

// EnableAuth creates the user root and enables authentication, as a product's start script or
// job does. After that, this package can use etcd only if the client certificate's common name
// is root.
func (c *Cluster) EnableAuth(ctx context.Context) error {
	conn, err := c.Dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, 6*callLimit)
	defer cancel()
	if _, err := conn.UserAdd(ctx, "root", rootPassword); err != nil {
		return fmt.Errorf("add user root to %s: %w", c, err)
	}
	if _, err := conn.UserGrantRole(ctx, "root", "root"); err != nil {
		return fmt.Errorf("grant root its role in %s: %w", c, err)
	}
	if _, err := conn.AuthEnable(ctx); err != nil {
		return fmt.Errorf("switch on authentication of %s: %w", c, err)
	}
	return nil
}
