// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package flavour

// Bitnami clusters are those of its chart, and others that use its image.
const Bitnami Name = "bitnami"

var bitnami = Product{
	Name: Bitnami,
	Env:  []string{"ETCD_ON_K8S", "MY_STS_NAME"},
	Membership: Membership{
		Manager: ByStartScript, ManagerName: "the members' start script", RemovesMembers: true,
		CorrectsPeerURLs: true,
		ChartValue:       "replicaCount",
		ScaleHow:         ", which removes members from etcd before it scales in",
		ReplaceHow:       selfHealing,
	},
	RecoveryEnv: "ETCD_DISASTER_RECOVERY",
	RecoveryOff: "helm upgrade --reuse-values --set disasterRecovery.enabled=false",
	StateFile:   "member_id",
}
