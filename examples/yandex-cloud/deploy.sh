#!/bin/sh
# Creates the function, its bucket and a timer a minute, with the `yc` command line; run it in the project's folder
# after `npm run build`, with NOTIFLY_URL, NOTIFLY_TOKEN and VLLM_ENDPOINTS in the environment.
# SERVICE_ACCOUNT: id of a service account with storage.editor on the bucket and functions.functionInvoker.
# AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: its static key (yc iam access-key create).
set -eu
: "${SERVICE_ACCOUNT:?}" "${AWS_ACCESS_KEY_ID:?}" "${AWS_SECRET_ACCESS_KEY:?}"
: "${BUCKET:?}" "${NOTIFLY_URL:?}" "${NOTIFLY_TOKEN:?}" "${VLLM_ENDPOINTS:?}"

package=$(mktemp -d)
trap 'rm -r "$package"' EXIT
cp dist/vllm.mjs dist/vllm.cjs examples/yandex-cloud/index.mjs "$package"
echo '{ "type": "module" }' >"$package/package.json"

# What is there already stays; an error of any other kind ends the script.
is_there() { yc "$@" >/dev/null 2>&1; }
is_there storage bucket get "$BUCKET" || yc storage bucket create --name "$BUCKET"
is_there serverless function get queuebell-vllm || yc serverless function create --name queuebell-vllm
# Endpoints are separated by commas inside --environment: blanks separate them here.
yc serverless function version create --function-name queuebell-vllm --source-path "$package" \
  --runtime nodejs22 --entrypoint index.handler --memory 256m --execution-timeout 50s --concurrency 1 \
  --service-account-id "$SERVICE_ACCOUNT" \
  --environment "VLLM_ENDPOINTS=$VLLM_ENDPOINTS,NOTIFLY_URL=$NOTIFLY_URL,NOTIFLY_TOKEN=$NOTIFLY_TOKEN" \
  --environment "STATE_BUCKET=$BUCKET,S3_ENDPOINT=https://storage.yandexcloud.net,AWS_REGION=ru-central1" \
  --environment "AWS_ACCESS_KEY_ID=$AWS_ACCESS_KEY_ID,AWS_SECRET_ACCESS_KEY=$AWS_SECRET_ACCESS_KEY"
is_there serverless trigger get queuebell-vllm ||
  yc serverless trigger create timer --name queuebell-vllm --cron-expression '* * ? * * *' \
    --invoke-function-name queuebell-vllm --invoke-function-service-account-id "$SERVICE_ACCOUNT" \
    --retry-attempts 0
