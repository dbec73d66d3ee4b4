// Whose fields a cluster.yaml's are, in the management cluster.
export const fieldManager = 'bke-cli';
