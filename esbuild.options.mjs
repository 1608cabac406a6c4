/** What every bundle of ours has in common, the benchmark's too. */
export const FOR_NODE = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // The AWS client's ES modules can be shaken; its CommonJS, which would be taken first, cannot.
  mainFields: ['module', 'main'],
  minify: true,
  // Otherwise every Cyrillic letter is written as six characters.
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
}

/** undici and the parser are CommonJS and call require for Node's own modules, which an ES module does not have. */
export const WITH_REQUIRE = {
  js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);",
}
