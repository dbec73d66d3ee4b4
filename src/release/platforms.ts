// The platforms bke knows. Apart from the manifest's schema, so that command declarations need not load it.

export const platforms = ['linux/amd64', 'linux/arm64'] as const;
export type Platform = (typeof platforms)[number];
