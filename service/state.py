"""What a running service holds: opened when the app starts, closed when it ends."""

from dataclasses import dataclass

from core.certificate.signing import Signer
from core.settings import Settings
from core.store import Store
from service.access.keys import KeyRing
from service.access.rate_limit import RateLimit
from service.access.secret import derive, read_secret
from service.access.streams import Streams
from service.metrics import Metrics
from service.queue import TaskQueue
from service.readiness import Readiness
from service.serving.inference import InferenceThreads
from service.serving.loaded import LoadedPredictors
from service.serving.prediction_ids import PredictionIds


@dataclass(frozen=True)
class Service:
    settings: Settings
    store: Store
    queue: TaskQueue
    keys: KeyRing
    limit: RateLimit
    streams: Streams
    readiness: Readiness
    metrics: Metrics
    inference: InferenceThreads
    predictors: LoadedPredictors
    prediction_ids: PredictionIds
    public_key: str
    """of the key that signs certificates here, in base64"""
    retired_keys: frozenset[str]
    """of keys that signed them before"""

    @classmethod
    def open(cls, settings: Settings) -> "Service":
        store = Store.ready(settings)
        try:
            secret = read_secret(settings.secret)
            public_key = Signer.from_file_or_new(settings.signing_key).public_key
            inference = InferenceThreads.on(settings.device, settings.queue_rows)
        except BaseException:
            store.close()
            raise
        queue = TaskQueue(settings)
        return cls(
            settings=settings,
            store=store,
            queue=queue,
            keys=KeyRing(store, derive(secret, "api keys"), settings.api_keys),
            limit=RateLimit(settings.rate_limit),
            streams=Streams(),
            readiness=Readiness(store, queue),
            metrics=Metrics(),
            inference=inference,
            predictors=LoadedPredictors(store, settings.cache_bytes, inference),
            prediction_ids=PredictionIds(derive(secret, "prediction ids")),
            public_key=public_key,
            retired_keys=frozenset(key.strip() for key in settings.retired_keys.split(",") if key.strip()),
        )

    def close(self) -> None:
        self.inference.close()
        self.queue.close()
        self.store.close()
