/** What stands in the bundles for undici's HTTP/2 client, its SOCKS agent and its forms: see `esbuild.config.mjs`. */
export default function leftOut(): never {
  throw new Error('this part of undici is not in this bundle')
}
