import type { BuildOptions } from 'esbuild'

export const FOR_NODE: BuildOptions
export const WITH_REQUIRE: Record<string, string>
