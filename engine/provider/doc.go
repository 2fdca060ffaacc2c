// Package provider holds the words of a call: Call, Reply, Provider.
package provider
