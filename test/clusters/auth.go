// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
)

// rootPassword is root's in every cluster here that has one.
const rootPassword = "open-sesame"

// RootPassword is what EnableAuth gives to root.
func (l layout) RootPassword() string { return rootPassword }

// EnableAuth makes the user root and switches authentication on, as a product's own
// start script or job does. From then on what this package does with etcd fails,
// but where root is who the client's certificate names.
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
