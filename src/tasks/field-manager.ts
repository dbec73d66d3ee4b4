// Who owns the fields of what `bke init` applies to a cluster.

export const fieldManager = 'bke-init';
