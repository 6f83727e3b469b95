// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"fmt"
	"os"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Whoami returns the name of the user in the API server, after impersonation.
func (a *App) Whoami(ctx context.Context) (string, error) {
	if a.User != "" {
		return a.User, nil
	}
	kube, err := a.Client()
	if err != nil {
		return "", err
	}
	var review authenticationv1.SelfSubjectReview
	if err := kube.Create(ctx, &review); err != nil {
		return "", fmt.Errorf("read your user name from the API server: %w", err)
	}
	a.User = cmp.Or(review.Status.UserInfo.Username, "unknown")
	return a.User, nil
}

// Identity returns the name of this process as the holder of a lock.
func Identity(user string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s at %s (pid %d)", user, host, os.Getpid())
}
