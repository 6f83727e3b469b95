// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// ownUsername returns the user name of this program at the API server. The webhook needs it
// to recognise the controller's writes, whatever the name of the service account is. It
// retries until the API server answers: the kubelet restarts a program that exits with longer
// and longer waits, and no replica would run when the API server is available again.
func ownUsername(ctx context.Context, config *rest.Config, logger logr.Logger) (string, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("create a client: %w", err)
	}
	var self string
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		review, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			logger.Error(err, "cannot read this program's user name; retrying")
			return false, nil
		}
		self = review.Status.UserInfo.Username
		return true, nil
	})
	if err != nil {
		return "", fmt.Errorf("read this program's user name from the API server: %w", err)
	}
	return self, nil
}
